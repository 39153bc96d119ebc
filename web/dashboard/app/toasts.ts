import { Store } from './store.ts';

const DONE_MS = 5000;
const SHOWN_MAX = 4;

export type Toast = { id: number } & ({ error: unknown } | { done: string });

export const toasts = new Store<readonly Toast[]>([]);
let count = 0;

/** Shows an error with its code and the request ID that support asks for. It stays until it is closed. */
export function showError(error: unknown): void {
  add({ id: nextId(), error });
}

/** Confirms an action that the page itself does not show. It disappears automatically. */
export function showSuccess(done: string): void {
  const id = nextId();
  add({ id, done });
  setTimeout(() => closeToast(id), DONE_MS);
}

function nextId(): number {
  count += 1;
  return count;
}

function add(toast: Toast): void {
  toasts.set([...toasts.get(), toast].slice(-SHOWN_MAX));
}

export function closeToast(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}
