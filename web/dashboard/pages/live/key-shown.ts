import { Store, useStore } from '../../app/store.ts';

/** ID of the stream whose key is revealed, until the page is left. */
const shown = new Store<string | null>(null);

export function useKeyShown(streamId: string): [boolean, (isShown: boolean) => void] {
  const isShown = useStore(shown) === streamId;
  return [isShown, (next) => shown.set(next ? streamId : null)];
}
