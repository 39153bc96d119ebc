import { Store, useStore } from '../../app/store.ts';

/** The stream whose key is shown in clear: until the page is left, and never for another one. */
const shown = new Store<string | null>(null);

export function useKeyShown(streamId: string): [boolean, (isShown: boolean) => void] {
  const isShown = useStore(shown) === streamId;
  return [isShown, (next) => shown.set(next ? streamId : null)];
}
