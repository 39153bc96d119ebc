import { Store, useStore } from './store.ts';
import { confirmLeave, hasUnsaved } from './unsaved.ts';

/** The workspace that this tab looks at; a request says it in `X-Workspace-Mode`. */
export type Mode = 'live' | 'test';

const KEY = 'marquee.mode';

// Links in mails and notifications say which of the two they mean.
const meant = new URLSearchParams(location.search).get('mode');
if (meant === 'test' || meant === 'live') sessionStorage.setItem(KEY, meant);

// Of the tab, not of the browser: two tabs may look at live and at test side by side.
const store = new Store<Mode>(sessionStorage.getItem(KEY) === 'test' ? 'test' : 'live');

export function currentMode(): Mode {
  return store.get();
}

/** The page is built anew, so it asks first where that loses something. */
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
