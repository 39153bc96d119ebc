import { Store, useStore } from './store.ts';
import { confirmLeave, hasUnsaved } from './unsaved.ts';

/** Mode of the workspace that this tab shows; requests carry it in `X-Workspace-Mode`. */
export type Mode = 'live' | 'test';

const KEY = 'marquee.mode';

// Links in emails and notifications carry the mode.
const meant = new URLSearchParams(location.search).get('mode');
if (meant === 'test' || meant === 'live') sessionStorage.setItem(KEY, meant);

// The mode belongs to the tab, not to the browser: two tabs may show live and test.
const store = new Store<Mode>(sessionStorage.getItem(KEY) === 'test' ? 'test' : 'live');

export function currentMode(): Mode {
  return store.get();
}

/**
 * Selects the workspace mode, which remounts the page. Asks for confirmation first if unsaved changes would
 * be lost.
 */
export function chooseMode(mode: Mode): void {
  if (mode === store.get()) return;
  const choose = () => {
    sessionStorage.setItem(KEY, mode);
    store.set(mode);
  };
  if (hasUnsaved()) void confirmLeave().then((may) => may && choose());
  else choose();
}

export function useMode(): Mode {
  return useStore(store);
}
