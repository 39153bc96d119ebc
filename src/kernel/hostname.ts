import { domainToASCII } from 'node:url';

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * A host name in its one form: lower case, punycode, without the dot of the root.
 *
 * @returns null for anything else: an address in brackets, a port, a scheme, a path. A dotted IPv4 address
 * passes, as it has the form of a name.
 */
export function toHostname(text: string): string | null {
  // `domainToASCII` parses as the host of a URL does: it ends at some of these and decodes others.
  if (/[/\\?#:@%\s[\]]/.test(text)) return null;
  const name = domainToASCII(text.replace(/\.$/, ''));
  if (name.length === 0 || name.length > 253) return null;
  return name.split('.').every((label) => LABEL.test(label)) ? name : null;
}

/** A host name, or `*.` and one, in its one form; null for anything else. */
export function toHostPattern(text: string): string | null {
  if (!text.startsWith('*.')) return toHostname(text);
  const name = toHostname(text.slice(2));
  return name === null ? null : `*.${name}`;
}

/** Exact host names, or `*.example.com` for every name below it. Both in their one form. */
export function matchesHost(pattern: string, name: string): boolean {
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}
