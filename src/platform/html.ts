/** Markup that is safe to send: made by `html` alone, so every value in it has been escaped. */
export class SafeHtml {
  readonly #text: string;

  constructor(strings: TemplateStringsArray, values: readonly HtmlValue[]) {
    this.#text = strings.reduce((text, part, index) => text + render(values[index - 1]) + part);
  }

  toString(): string {
    return this.#text;
  }
}

/**
 * Value in a template: text is escaped, markup is inserted unchanged, null, undefined and false render
 * nothing.
 */
export type HtmlValue = string | number | SafeHtml | null | undefined | false | readonly HtmlValue[];

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  // Not a character of HTML; browsers would show nothing or U+FFFD for it.
  '\0': '\uFFFD',
};

/**
 * A template whose values are escaped for text and for quoted attributes:
 * `` html`<p title="${title}">${text}</p>` ``. Attribute values must be quoted; addresses that users give
 * must be checked by their own rules (`javascript:`), and no value belongs in a script or a style.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): SafeHtml {
  return new SafeHtml(strings, values);
}

/** A block of data in a script element that no browser runs, such as `application/ld+json`. */
export function jsonScript(type: string, data: object): SafeHtml {
  // In JSON these stand only inside of strings, where their escapes mean the same.
  const json = JSON.stringify(data)
    .toWellFormed()
    .replace(/[<>&\u2028\u2029]/g, unicodeEscape);
  const markup = [`<script type="${type}">${json}</script>`];
  return new SafeHtml(Object.assign(markup, { raw: markup }), []);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof SafeHtml) return value.toString();
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return value.map(render).join('');
}

function escapeHtml(text: string): string {
  // A lone half of a surrogate pair cannot be sent as UTF-8.
  return text.toWellFormed().replace(/[&<>"'`\0]/g, (character) => ENTITIES[character] ?? character);
}
