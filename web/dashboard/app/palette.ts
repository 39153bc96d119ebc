import { useHotkeys } from '@mantine/hooks';
import { createElement, lazy } from 'react';
import { Store, useStore } from './store.ts';

const PaletteDialog = lazy(() => import('./palette-dialog.tsx'));

/** How often it was asked for: it comes with its library on the first time, and opens on each. */
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
