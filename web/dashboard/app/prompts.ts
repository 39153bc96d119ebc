import { Store, useStore } from './store.ts';

/** Dialog shown above the page while calls wait for it, or before the page is left. */
export type Prompt = 'signIn' | 'password' | 'unsaved' | 'secret';

interface Open {
  prompt: Prompt;
  answered: Promise<boolean>;
  answer(done: boolean): void;
}

const open = new Store<Open | null>(null);

export function usePrompt(): Open | null {
  return useStore(open);
}

/**
 * Shows the dialog, once for all calls that need it at the same time.
 *
 * @returns whether the user completed it; false when the dialog was closed.
 */
export async function openPrompt(prompt: Prompt): Promise<boolean> {
  const current = open.get();
  if (current?.prompt === prompt) return current.answered;
  if (current !== null) {
    await current.answered;
    return openPrompt(prompt);
  }
  const { promise: answered, resolve } = Promise.withResolvers<boolean>();
  open.set({
    prompt,
    answered,
    answer(done) {
      open.set(null);
      resolve(done);
    },
  });
  return answered;
}

/** Escape in a dialog of ours must not reach those of the page: registered before any of them. */
window.addEventListener(
  'keydown',
  (event) => {
    if (event.key === 'Escape' && open.get() !== null) event.stopImmediatePropagation();
  },
  true,
);
