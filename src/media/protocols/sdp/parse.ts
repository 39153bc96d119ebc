import {
  isDirection,
  type SdpAttribute,
  type SdpDirection,
  SdpError,
  type SessionDescription,
} from './session-description.ts';

/** Limits of an accepted session description. */
export interface SdpLimits {
  maxBytes: number;
  maxLines: number;
  maxSections: number;
}

/** Limits of what one client offers. A browser that sends two cameras and two microphones needs 500 lines and 20 kB. */
const CLIENT_LIMITS: SdpLimits = { maxBytes: 128 * 1024, maxLines: 2000, maxSections: 12 };

interface Section {
  kind: string;
  port: number;
  protocol: string;
  formats: string[];
  direction: SdpDirection | null;
  attributes: SdpAttribute[];
}

const MEDIA = /^m=([\w.+-]{1,32}) +(\d{1,5})(?:\/\d{1,5})? +([\w/.+-]{1,64})((?: +[!-~]{1,32})+)$/;
const MAX_PORT = 65_535;
const ATTRIBUTE = /^a=([\w!#$%&'*+.^`{|}~-]{1,64})(?::([^\0\r]*))?$/;

/**
 * Parses a session description. Lines end in CRLF or LF and in nothing else; lines other than `a=` and `m=`,
 * and malformed attributes, are dropped.
 *
 * @throws {SdpError} for an invalid session description, and for one beyond the limits.
 */
export function parseSdp(text: string, limits: SdpLimits = CLIENT_LIMITS): SessionDescription {
  if (!/^v=0[ \t]*(?:\r?\n|$)/.test(text)) throw new SdpError('A session description begins with "v=0".');
  const attributes: SdpAttribute[] = [];
  const media: Section[] = [];
  for (const line of linesOf(text, limits)) {
    if (!line.startsWith('m=')) addAttribute(line, media.at(-1), attributes);
    else if (media.length < limits.maxSections) media.push(sectionOf(line));
    else throw new SdpError(`The session description has more than ${limits.maxSections} sections.`);
  }
  return { attributes, media };
}

function linesOf(text: string, { maxBytes, maxLines }: SdpLimits): string[] {
  if (Buffer.byteLength(text) > maxBytes)
    throw new SdpError(`The session description has more than ${maxBytes} bytes.`);
  const lines = text.split('\n', maxLines + 2);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length > maxLines) throw new SdpError(`The session description has more than ${maxLines} lines.`);
  return lines.map((line) => line.trim());
}

function sectionOf(line: string): Section {
  const [, kind, port, protocol, formats = ''] = MEDIA.exec(line) ?? [];
  if (kind === undefined || protocol === undefined || Number(port) > MAX_PORT)
    throw new SdpError('The session description has a malformed "m=" line.');
  const shared = { kind, port: Number(port), protocol, formats: formats.trim().split(/ +/) };
  return { ...shared, direction: null, attributes: [] };
}

/** Adds an `a=` line to its section, or to the session before the first one. */
function addAttribute(line: string, section: Section | undefined, session: SdpAttribute[]): void {
  const [, name, value = ''] = ATTRIBUTE.exec(line) ?? [];
  if (name === undefined) return;
  const direction = name.toLowerCase();
  if (!isDirection(direction)) {
    (section?.attributes ?? session).push({ name, value: value.trim() });
  } else if (section !== undefined && value === '') {
    // The last one counts, as in Janus and in browsers.
    section.direction = direction;
  }
}
