import { useEffect, useRef } from 'react';
import { openPrompt } from './prompts.ts';

/** What leaving would lose: changes of a form, or a secret that cannot be shown again. */
type Loss = 'unsaved' | 'secret';

interface Held {
  loss: Loss;
  isThere(): boolean;
}

const held = new Set<Held>();

const firstHeld = () => [...held].find((one) => one.isThere());

/** Whether leaving the page would lose something. */
export function hasUnsaved(): boolean {
  return firstHeld() !== undefined;
}

/** Asks where something would be lost. @returns whether the page may be left. */
export async function confirmLeave(): Promise<boolean> {
  const first = firstHeld();
  if (first === undefined) return true;
  const isGiven = await openPrompt(first.loss);
  // Given up: the browser does not ask once more while the page goes.
  if (isGiven) held.clear();
  return isGiven;
}

/** While `isThere`, whoever leaves the page is asked first: by a link, a switch of the workspace, closing the tab. */
export function useLoss(loss: Loss, isThere: () => boolean): void {
  const latest = useRef(isThere);
  useEffect(() => {
    latest.current = isThere;
  });
  useEffect(() => {
    const own = { loss, isThere: () => latest.current() };
    held.add(own);
    return () => {
      held.delete(own);
    };
  }, [loss]);
}

/** Asks before changes of a form are lost. What has saved them calls `form.resetDirty()`. */
export function useUnsaved(form: { isDirty(): boolean }): void {
  useLoss('unsaved', () => form.isDirty());
}
