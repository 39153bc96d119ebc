/** A session description (RFC 8866): what this platform reads of one, and all that it writes. */
export interface SessionDescription {
  /** Attributes of the session, before the first section. */
  attributes: readonly SdpAttribute[];
  media: readonly SdpMedia[];
}

/** A media section. */
export interface SdpMedia {
  /** `audio`, `video`, `application`, … */
  kind: string;
  port: number;
  /** `RTP/AVP`, `UDP/TLS/RTP/SAVPF`, … */
  protocol: string;
  /** The payload types of RTP, by preference. */
  formats: readonly string[];
  /** The last direction line of the section; null without one, which means `sendrecv`. */
  direction: SdpDirection | null;
  /** All other attributes, in their order. */
  attributes: readonly SdpAttribute[];
}

/** An `a=` line. */
export interface SdpAttribute {
  name: string;
  /** Empty for a flag such as `a=rtcp-mux`. */
  value: string;
}

const DIRECTIONS = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const;
export type SdpDirection = (typeof DIRECTIONS)[number];

export function isDirection(text: string): text is SdpDirection {
  return DIRECTIONS.some((direction) => direction === text);
}

/** A text that is no session description, or exceeds the limits of its reader. */
export class SdpError extends Error {
  override name = 'SdpError';
}

/** Returns the value of the first attribute with this name; undefined without one. */
export function attributeOf(attributes: readonly SdpAttribute[], name: string): string | undefined {
  return attributes.find((attribute) => attribute.name === name)?.value;
}

/** Reports whether a section is rejected: it has port 0 (RFC 3264) and is not bundled with another one (RFC 9143). */
export function isRejected({ port, attributes }: SdpMedia): boolean {
  return port === 0 && attributeOf(attributes, 'bundle-only') === undefined;
}

/** Reports whether the author of a section sends media in it. */
export function isSending(media: SdpMedia): boolean {
  return !isRejected(media) && media.direction !== 'recvonly' && media.direction !== 'inactive';
}

/** Reports whether the author of a section receives media in it. */
export function isReceiving(media: SdpMedia): boolean {
  return !isRejected(media) && media.direction !== 'sendonly' && media.direction !== 'inactive';
}

/** A codec of a section, by `a=rtpmap` and `a=fmtp`. */
export interface SdpCodec {
  payloadType: number;
  /** Upper case, such as `H264`. */
  name: string;
  clockRate: number;
  /** 1 unless the section specifies it. */
  channels: number;
  /** Parameters of `a=fmtp`; empty without one. */
  parameters: string;
}

const MAX_PAYLOAD_TYPE = 127;
const MAX_PARAMETERS = 400;

/** Returns the codecs that a section describes, by preference. Payload types without `a=rtpmap` are left out. */
export function codecsOf({ formats, attributes }: SdpMedia): SdpCodec[] {
  const maps = byPayloadType(attributes, 'rtpmap');
  const parameters = byPayloadType(attributes, 'fmtp');
  return [...new Set(formats)].flatMap((format) => {
    const [, name, clockRate, channels = '1'] =
      /^([\w.-]{1,40})\/(\d{1,9})(?:\/(\d{1,3}))?$/.exec(maps.get(format) ?? '') ?? [];
    const payloadType = Number(format);
    if (name === undefined || payloadType > MAX_PAYLOAD_TYPE) return [];
    return {
      payloadType,
      name: name.toUpperCase(),
      clockRate: Number(clockRate),
      channels: Number(channels),
      parameters: (parameters.get(format) ?? '').slice(0, MAX_PARAMETERS),
    };
  });
}

/** The rest of the first attribute of each payload type; a section may have thousands. */
function byPayloadType(attributes: readonly SdpAttribute[], name: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const attribute of attributes) {
    if (attribute.name !== name) continue;
    const [, format, rest = ''] = /^(\d{1,3}) +(.*)$/.exec(attribute.value) ?? [];
    if (format !== undefined && !found.has(format)) found.set(format, rest.trim());
  }
  return found;
}
