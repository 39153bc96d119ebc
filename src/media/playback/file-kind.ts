/** Extension and content type of a file, for downloads. */
export interface DetectedFileType {
  /** File extension without a dot. */
  extension: string;
  contentType: string;
}

export const KIND_BYTES = 256;
export const MP4: DetectedFileType = { extension: 'mp4', contentType: 'video/mp4' };

const KINDS: readonly [(head: Buffer, text: string) => boolean, DetectedFileType][] = [
  [(_head, text) => text.startsWith('ftypqt', 4), { extension: 'mov', contentType: 'video/quicktime' }],
  [(_head, text) => ['moov', 'mdat', 'wide'].includes(text.slice(4, 8)), kind('mov', 'video/quicktime')],
  [(_head, text) => text.startsWith('ftyp3g', 4), kind('3gp', 'video/3gpp')],
  [(_head, text) => text.startsWith('ftyp', 4), MP4],
  [(head, text) => isEbml(head) && text.includes('webm'), kind('webm', 'video/webm')],
  [isEbml, kind('mkv', 'video/x-matroska')],
  [(_head, text) => text.startsWith('RIFF') && text.startsWith('AVI ', 8), kind('avi', 'video/x-msvideo')],
  [(_head, text) => text.startsWith('RIFF') && text.startsWith('WEBP', 8), kind('webp', 'image/webp')],
  [(_head, text) => text.startsWith('GIF8'), kind('gif', 'image/gif')],
  [(_head, text) => text.startsWith('FLV'), kind('flv', 'video/x-flv')],
  [(_head, text) => text.startsWith('OggS'), kind('ogv', 'video/ogg')],
  [(head) => startsWith(head, '000001ba'), kind('mpg', 'video/mpeg')],
  [(head) => startsWith(head, '3026b275'), kind('wmv', 'video/x-ms-wmv')],
  [(head) => head[0] === 0x47 && head[188] === 0x47, kind('ts', 'video/mp2t')],
];

/** Detects the type from the first bytes, since the name of an upload proves nothing. */
export function kindOf(head: Buffer): DetectedFileType {
  const text = head.toString('latin1');
  const [, found] = KINDS.find(([is]) => is(head, text)) ?? [];
  return found ?? { extension: 'bin', contentType: 'application/octet-stream' };
}

function kind(extension: string, contentType: string): DetectedFileType {
  return { extension, contentType };
}

function isEbml(head: Buffer): boolean {
  return startsWith(head, '1a45dfa3');
}

function startsWith(head: Buffer, hex: string): boolean {
  return head.toString('hex', 0, hex.length / 2) === hex;
}

const MAX_NAME = 120;

/** A file's name out of a title: what systems cannot have in names becomes a space. @param title of any text. */
export function fileName(title: string, { extension }: DetectedFileType): string {
  const name = title
    .replace(/[\p{C}/\\:*?"<>|]/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[ .]+|[ .]+$/g, '');
  return `${[...(name === '' ? 'video' : name)].slice(0, MAX_NAME).join('').trim()}.${extension}`;
}

/** `Content-Disposition` (RFC 6266) for a name of any letters. */
export function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|[%"\\]/g, '_');
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}
