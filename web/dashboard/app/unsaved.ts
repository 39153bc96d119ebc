import { useEffect, useRef } from 'react';
import { openPrompt } from './prompts.ts';

/** Loss caused by leaving the page: unsaved changes of a form, or a secret that cannot be shown again. */
type Loss = 'unsaved' | 'secret';

interface LossGuard {
  loss: Loss;
  isThere(): boolean;
}

const lossGuards = new Set<LossGuard>();

const firstHeld = () => [...lossGuards].find((one) => one.isThere());

/** Reports whether leaving the page would lose something. */
export function hasUnsaved(): boolean {
  return firstHeld() !== undefined;
}

/** Asks for confirmation if something would be lost. @returns whether the page may be left. */
export async function confirmLeave(): Promise<boolean> {
  const first = firstHeld();
  if (first === undefined) return true;
  const isGiven = await openPrompt(first.loss);
  // The user accepted the loss; the browser must not ask a second time while the page unloads.
  if (isGiven) lossGuards.clear();
  return isGiven;
}

/**
 * Asks for confirmation before the page is left by a link, a workspace switch or closing the tab, while
 * `isThere`.
 */
export function useLoss(loss: Loss, isThere: () => boolean): void {
  const latest = useRef(isThere);
  useEffect(() => {
    latest.current = isThere;
  });
  useEffect(() => {
    const own = { loss, isThere: () => latest.current() };
    lossGuards.add(own);
    return () => {
      lossGuards.delete(own);
    };
  }, [loss]);
}

/** Asks before unsaved changes of a form are lost. Code that has saved them calls `form.resetDirty()`. */
export function useUnsaved(form: { isDirty(): boolean }): void {
  useLoss('unsaved', () => form.isDirty());
}
