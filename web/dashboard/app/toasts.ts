import { createElement, lazy } from 'react';
import { Store, useStore } from './store.ts';

/** The list and its library come with the first toast. */
const load = () => import('./toast-list.tsx');
const ToastList = lazy(load);
const isNeeded = new Store(false);

/** Where toasts are shown. */
export function Toasts() {
  return useStore(isNeeded) && createElement(ToastList);
}

/** A refusal with its code and the request id that support asks for. It stays until it is closed. */
export function showError(error: unknown): void {
  isNeeded.set(true);
  void load().then(({ addError }) => addError(error));
}

/** That something worked, where the page itself does not show it. It goes by itself. */
export function showDone(message: string): void {
  isNeeded.set(true);
  void load().then(({ addDone }) => addDone(message));
}
