import { useHotkeys } from '@mantine/hooks';
import { createElement, lazy } from 'react';
import { Store, useStore } from './store.ts';

const PaletteDialog = lazy(() => import('./palette-dialog.tsx'));

/** Number of times the palette was opened. Its library is loaded on the first time. */
const timesOpened = new Store(0);

export function openPalette(): void {
  timesOpened.set(timesOpened.get() + 1);
}

/** The palette and its keys, Ctrl-K or Cmd-K; they work in an input, too. */
export function Palette() {
  useHotkeys([['mod+K', openPalette]], []);
  const opened = useStore(timesOpened);
  return opened > 0 && createElement(PaletteDialog, { opened });
}
