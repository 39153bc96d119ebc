import type { SdpAttribute, SdpMedia, SessionDescription } from './session-description.ts';

/** Origin and name of a session that reveal nothing about its author (RFC 9429, section 5.2.1). */
const HEAD = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0'];
const NO_ADDRESS = 'c=IN IP4 0.0.0.0';

/** Writes a session description. Each section has one direction, unless it is null, and the address 0.0.0.0. */
export function writeSdp({ attributes, media }: SessionDescription): string {
  return [...HEAD, ...attributes.map(attributeLine), ...media.flatMap(linesOf), ''].join('\r\n');
}

function linesOf({ kind, port, protocol, formats, direction, attributes }: SdpMedia): string[] {
  return [
    `m=${kind} ${port} ${protocol} ${formats.join(' ')}`,
    NO_ADDRESS,
    ...(direction === null ? [] : [`a=${direction}`]),
    ...attributes.map(attributeLine),
  ];
}

function attributeLine({ name, value }: SdpAttribute): string {
  return value === '' ? `a=${name}` : `a=${name}:${value}`;
}
