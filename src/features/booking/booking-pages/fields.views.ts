import type { IntakeField } from '../../../platform/db/json-columns.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';

/** Submitted form values and the problem with one of them. */

export interface FormState {
  /** Submitted value by input name. */
  typed: (name: string) => string;
  problem: FieldProblem | null;
}

export interface FieldProblem {
  status: number;
  text: string;
  /** Name of the input; null for the form as a whole. */
  input: string | null;
}

export const EMPTY_FORM: FormState = { typed: () => '', problem: null };

/** Returns the input name of an intake question. */
export const answerName = (key: string) => `answer.${key}`;

const MAX_TEXT = 500;
const MAX_LONG_TEXT = 5000;

interface Input {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'tel';
  required?: boolean;
  maxLength?: number;
  autocomplete?: string;
}

/** Renders a labeled input with its validation message. */
export function textField(form: FormState, input: Input): SafeHtml {
  const { name, label, type = 'text', required = false, maxLength = MAX_TEXT, autocomplete = 'off' } = input;
  return html`<label class="field">${named(label, required)}
<input type="${type}" name="${name}" maxlength="${maxLength}" autocomplete="${autocomplete}" value="${form.typed(name)}"${state(form, name, required)}>
</label>${inputError(form, name)}`;
}

/** Renders the intake questions of the creator. */
export function intakeFields(form: FormState, fields: readonly IntakeField[]): SafeHtml {
  return html`${fields.map((field) => intakeField(form, field))}`;
}

function intakeField(form: FormState, field: IntakeField): SafeHtml {
  const name = answerName(field.key);
  const { label, required, options = [] } = field;
  switch (field.type) {
    case 'LONGTEXT':
      return html`<label class="field">${named(label, required)}
<textarea name="${name}" rows="4" maxlength="${MAX_LONG_TEXT}"${state(form, name, required)}>
${form.typed(name)}</textarea>
</label>${inputError(form, name)}`;
    case 'SELECT':
      return html`<label class="field">${named(label, required)}
<select name="${name}"${state(form, name, required)}><option value="">Choose</option>${options.map(
        (option) =>
          html`<option value="${option}"${option === form.typed(name) && html` selected`}>${option}</option>`,
      )}</select>
</label>${inputError(form, name)}`;
    case 'CHECKBOX':
      return html`<label class="book-check"><input type="checkbox" name="${name}" value="true"${form.typed(name) === 'true' && html` checked`}${state(form, name, required)}>
<span>${named(label, required)}</span></label>${inputError(form, name)}`;
    case 'EMAIL':
      return textField(form, { name, label, required, type: 'email', maxLength: 254 });
    case 'PHONE':
      return textField(form, { name, label, required, type: 'tel', maxLength: 30 });
    case 'TEXT':
      return textField(form, { name, label, required });
  }
}

const named = (label: string, required: boolean) =>
  html`<span><bdi>${label}</bdi>${!required && html` <small>(optional)</small>`}</span>`;

const state = ({ problem }: FormState, name: string, required: boolean) =>
  html`${required && html` required`}${
    problem?.input === name && html` aria-invalid="true" aria-describedby="problem"`
  }`;

const inputError = ({ problem }: FormState, name: string) =>
  problem?.input === name && html`<p class="problem" id="problem" role="alert">${problem.text}</p>`;

/** Renders a problem that belongs to no single input. */
export function formError({ problem }: FormState): SafeHtml {
  return html`${problem?.input === null && html`<p class="book-problem" role="alert">${problem.text}</p>`}`;
}
