import { Store } from './store.ts';

const DONE_MS = 5000;
const SHOWN_MAX = 4;

export type Toast = { id: number } & ({ error: unknown } | { done: string });

export const toasts = new Store<readonly Toast[]>([]);
let count = 0;

/** A refusal with its code and the request id that support asks for. It stays until it is closed. */
export function showError(error: unknown): void {
  add({ id: nextId(), error });
}

/** That something worked, where the page itself does not show it. It goes by itself. */
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
