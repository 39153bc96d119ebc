import type { ApiError } from '../../app/api-error.ts';
import { errorMessage } from '../../app/error-message.ts';
import { formErrors } from '../../app/form.ts';

interface SecretForm {
  getValues(): object;
  setFieldError(path: string, error: string): void;
  getInputNode(path: string): HTMLElement | null;
}

/** Shows a wrong password or code at its input. */
export function fieldErrors(form: SecretForm, field: string, words: string): (error: ApiError) => void {
  return (error) => {
    if (error.code !== 'INVALID_CREDENTIALS') return formErrors(form)(error);
    form.setFieldError(error.field ?? field, words || errorMessage(error));
  };
}
