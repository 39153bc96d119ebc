import { ApiError } from './api-error.ts';
import { errorMessage } from './error-message.ts';
import { showError } from './toasts.ts';

interface ErrorForm {
  getValues(): object;
  setFieldError(path: string, error: string): void;
  getInputNode(path: string): HTMLElement | null;
}

/**
 * Returns an `onError` handler for a form whose mutation has `meta: { errors: 'form' }`. The message is shown
 * at the input that `error.field` names (or that `fields` maps it to), any other error as a toast.
 */
export function formErrors(form: ErrorForm, fields: Record<string, string> = {}): (error: unknown) => void {
  return (error) => {
    const named = error instanceof ApiError ? error.field : null;
    const path = named === null ? null : (fields[named] ?? named);
    const isOurs = path !== null && (path.split('.')[0] ?? '') in form.getValues();
    if (!isOurs) return showError(error);
    form.setFieldError(path, errorMessage(error));
    form.getInputNode(path)?.focus();
  };
}
