import { ConfigError, integer, type Key, mediaDrain, port, text, url } from './config-parsers.ts';

/** The variables of how nodes with the media role are reached, for the table of all. */
export const MEDIA_KEYS = {
  RTMPS_PORT: port('RTMPS port, open if `TLS_CERT_FILE` and `TLS_KEY_FILE` are set.', 1936),
  RTMPS_URL: url(
    'Public RTMPS URL for encoders. Default, with a certificate: the host of `PUBLIC_URL`, `RTMPS_PORT`, `/live`.',
    ['rtmps:'],
  ),
  TLS_CERT_FILE: text(
    'Certificate of the RTMPS port with its intermediate certificates, PEM. Both files are reloaded when they change.',
  ),
  TLS_KEY_FILE: text('Private key of the RTMPS certificate, PEM.'),
  MEDIA_HOST: text(
    'Address the media role binds for the nodes that serve its broadcasts to viewers: an address of a private network if they run on other machines. See `docs/guides/operations.md`.',
    '127.0.0.1',
  ),
  MEDIA_PORT: port(
    'Port for these nodes, and the following ports for further media processes; 0 uses free ports.',
    0,
  ),
  MEDIA_URL: url(
    'URL of that port for the other nodes; further media processes have the following ports. Default `http://MEDIA_HOST:MEDIA_PORT`.',
    ['http:', 'https:'],
  ),
  MEDIA_DRAIN: mediaDrain,
  MEDIA_DRAIN_SEC: integer(
    'Maximum time that a stopped node waits for its broadcasts with `MEDIA_DRAIN=wait`, in seconds.',
    21_600,
    1,
    604_800,
  ),
} satisfies Record<string, Key<unknown>>;

/** Configuration keys whose values may be absent. */
export type MediaKeys = 'RTMPS_URL' | 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'MEDIA_URL';

export interface MediaConfig {
  /** Undefined where encoders cannot use TLS. */
  readonly RTMPS_URL: string | undefined;
  readonly TLS_CERT_FILE: string | undefined;
  readonly TLS_KEY_FILE: string | undefined;
  readonly MEDIA_URL: string | undefined;
}

type Read = <T>(name: string, key: Key<T>) => T | undefined;

/** @throws {ConfigError} naming the key. */
export function readMedia(read: Read, publicUrl: string) {
  const host = read('MEDIA_HOST', MEDIA_KEYS.MEDIA_HOST) ?? '';
  const address = read('MEDIA_URL', MEDIA_KEYS.MEDIA_URL);
  if (address === undefined && (host === '0.0.0.0' || host === '::')) {
    throw new ConfigError(
      `MEDIA_URL is required with MEDIA_HOST ${host}, which other nodes cannot connect to`,
    );
  }
  return {
    ...readRtmps(read, publicUrl),
    MEDIA_HOST: host,
    MEDIA_PORT: read('MEDIA_PORT', MEDIA_KEYS.MEDIA_PORT) ?? 0,
    MEDIA_URL: address,
    MEDIA_DRAIN: read('MEDIA_DRAIN', MEDIA_KEYS.MEDIA_DRAIN) ?? 'move',
    MEDIA_DRAIN_SEC: read('MEDIA_DRAIN_SEC', MEDIA_KEYS.MEDIA_DRAIN_SEC) ?? 0,
  };
}

function readRtmps(read: Read, publicUrl: string) {
  const cert = read('TLS_CERT_FILE', MEDIA_KEYS.TLS_CERT_FILE);
  const key = read('TLS_KEY_FILE', MEDIA_KEYS.TLS_KEY_FILE);
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE';
    throw new ConfigError(`${missing} is required: set TLS_CERT_FILE and TLS_KEY_FILE together`);
  }
  const rtmpsPort = read('RTMPS_PORT', MEDIA_KEYS.RTMPS_PORT) ?? 0;
  const derived = cert && `rtmps://${new URL(publicUrl).hostname}:${rtmpsPort}/live`;
  return {
    RTMPS_PORT: rtmpsPort,
    // Also without files: TLS may end in front of the RTMP port.
    RTMPS_URL: read('RTMPS_URL', MEDIA_KEYS.RTMPS_URL) ?? derived,
    TLS_CERT_FILE: cert,
    TLS_KEY_FILE: key,
  };
}
