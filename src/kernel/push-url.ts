/** Parsed URL of a restream target. */
export interface PushUrl {
  scheme: 'rtmp' | 'rtmps' | 'srt';
  /** Host as spelled, in lower case; an IPv6 address in brackets. */
  host: string;
  port: number;
  /** The application of RTMP, with its query, without slashes around it; empty for SRT. */
  app: string;
  query: URLSearchParams;
  /** The host as an `https:` URL, for the SSRF guard, which parses hosts as browsers do. */
  guarded: string;
}

export const MAX_PUSH_URL_LENGTH = 2048;
const FORM = /^(rtmps?|srt):\/\/([^/?#@]*)(\/[^?#]*)?(\?[^#]*)?$/i;
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^[\]:]+)(?::(\d{1,5}))?$/i;
const DEFAULT_PORTS = { rtmp: 1935, rtmps: 443, srt: 0 } as const;
/** Options of an SRT URL that users may set; the others are set by us, or are secrets. */
const SRT_OPTIONS = new Set(['latency', 'mode', 'pbkeylen']);
const KEY_BYTES = new Set(['16', '24', '32']);

/** @returns why the text is no such address, in words for its sender. */
export function parsePushUrl(text: string): PushUrl | string {
  if (text.length > MAX_PUSH_URL_LENGTH) return `it is longer than ${MAX_PUSH_URL_LENGTH} characters`;
  if (!/^[\x21-\x7e]*$/.test(text)) return 'it contains invalid characters';
  const [, schemeText = '', authority = '', path = '', search = ''] = FORM.exec(text) ?? [];
  const scheme = schemeOf(schemeText);
  if (scheme === null)
    return 'it must start with rtmp://, rtmps:// or srt:// and contain a host but no user name';
  const [, host = '', portText] = AUTHORITY.exec(authority) ?? [];
  if (host === '') return 'it has no host';
  const port = portText === undefined ? DEFAULT_PORTS[scheme] : Number(portText);
  if (port < 1 || port > 65_535) return scheme === 'srt' ? 'it must contain a port' : 'its port is invalid';
  const app = `${path.replace(/^\/+|\/+$/g, '')}${search}`;
  const query = new URLSearchParams(search);
  const wrong =
    scheme === 'srt' ? srtFault(path, query) : app === '' ? 'it must contain an application' : null;
  if (wrong !== null) return wrong;
  const guarded = `https://${authority}/`;
  return { scheme, host: host.toLowerCase(), port, app: scheme === 'srt' ? '' : app, query, guarded };
}

function schemeOf(text: string): PushUrl['scheme'] | null {
  const scheme = text.toLowerCase();
  return scheme === 'rtmp' || scheme === 'rtmps' || scheme === 'srt' ? scheme : null;
}

function srtFault(path: string, query: URLSearchParams): string | null {
  if (path !== '' && path !== '/') return 'an SRT URL cannot contain a path';
  for (const name of query.keys()) {
    if (name === 'streamid') return 'the streamid must be sent as streamKey';
    if (name === 'passphrase') return 'the passphrase is a field of its own';
    if (!SRT_OPTIONS.has(name)) return `the option ${name.slice(0, 40)} is not supported`;
  }
  if ((query.get('mode') ?? 'caller') !== 'caller') return 'mode must be caller';
  const keyBytes = query.get('pbkeylen');
  if (keyBytes !== null && !KEY_BYTES.has(keyBytes)) return 'pbkeylen must be 16, 24 or 32';
  const latency = query.get('latency');
  if (latency !== null && !/^\d{2,4}$/.test(latency)) return 'latency must be 10 to 9999 milliseconds';
  return null;
}
