import { MAX_PUSH_URL_LENGTH, type PushUrl, parsePushUrl } from './push-url.ts';

/** Parsed URL of a live source (docs/concepts/bridges.md#sources). */
export type PullUrl = HlsUrl | RtmpUrl | SrtUrl | RtspUrl;

/** A user and a password that stood in the address. */
export interface Credentials {
  user: string;
  password: string;
}

interface Common {
  /** The host as an `https:` URL, for the SSRF guard, which parses hosts as browsers do. */
  guarded: string;
  /** URL without its secrets. */
  shown: string;
}

export interface HlsUrl extends Common {
  scheme: 'https';
  /** URL without the credentials. */
  url: string;
  credentials: Credentials | null;
}

export interface RtmpUrl extends Common {
  scheme: 'rtmp' | 'rtmps';
  server: PushUrl;
  /** Stream name within the application; often a secret. */
  name: string;
}

export interface SrtUrl extends Common {
  scheme: 'srt';
  server: PushUrl;
  streamId: string | null;
}

export interface RtspUrl extends Common {
  scheme: 'rtsp' | 'rtsps';
  /** Without the credentials: what the server is asked for. */
  url: string;
  port: number;
  credentials: Credentials | null;
}

export const MAX_PULL_URL_LENGTH = MAX_PUSH_URL_LENGTH;
const HIDDEN = '***';
const SCHEME = /^([a-z]+):\/\//i;
const PARTS = /^[a-z]+:\/\/(?:([^/?#@]*)@)?([^/?#@]+)([^?#]*)(\?[^#]*)?$/i;
const RTSP_PORTS = { rtsp: 554, rtsps: 322 } as const;

/** @returns why the text is no such address, in words for its sender. */
export function parsePullUrl(text: string): PullUrl | string {
  if (text.length > MAX_PULL_URL_LENGTH) return `it is longer than ${MAX_PULL_URL_LENGTH} characters`;
  if (!/^[\x21-\x7e]*$/.test(text) || text.includes('\\')) return 'it contains invalid characters';
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'https') return hls(text);
  if (scheme === 'rtmp' || scheme === 'rtmps') return rtmp(text, scheme);
  if (scheme === 'srt') return srt(text);
  if (scheme === 'rtsp' || scheme === 'rtsps') return rtsp(text, scheme);
  return 'it must start with https://, rtmp://, rtmps://, srt://, rtsp:// or rtsps://';
}

interface Parts {
  credentials: Credentials | null;
  authority: string;
  path: string;
  search: string;
  shown: string;
}

/** @param hidePath hides the last piece of the path, too. */
function partsOf(text: string, scheme: string, hidePath = false): Parts | null {
  const [, userinfo, authority, path = '', search = ''] = PARTS.exec(text) ?? [];
  if (authority === undefined) return null;
  const credentials = userinfo === undefined ? null : credentialsOf(userinfo);
  const who = credentials === null ? '' : `${HIDDEN}@`;
  const place = hidePath ? path.replace(/[^/]+$/, HIDDEN) : path;
  const asked = search.replace(/=[^&]*/g, `=${HIDDEN}`);
  return { credentials, authority, path, search, shown: `${scheme}://${who}${authority}${place}${asked}` };
}

function credentialsOf(userinfo: string): Credentials {
  const [user = '', ...rest] = userinfo.split(':');
  return { user: decoded(user), password: decoded(rest.join(':')) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function hls(text: string): HlsUrl | string {
  const parts = partsOf(text.replace(/#.*$/, ''), 'https');
  if (parts === null || !URL.canParse(text)) return 'it is malformed';
  const { credentials, authority, path, search, shown } = parts;
  const url = `https://${authority}${path}${search}`;
  return { scheme: 'https', url, credentials, shown, guarded: `https://${authority}/` };
}

function rtmp(text: string, scheme: 'rtmp' | 'rtmps'): RtmpUrl | string {
  const parts = partsOf(text, scheme, true);
  if (parts === null) return 'it is malformed';
  if (parts.credentials !== null) return 'a user name in an RTMP URL is not supported';
  const cut = parts.path.lastIndexOf('/');
  const name = `${parts.path.slice(cut + 1)}${parts.search}`;
  if (cut < 1 || parts.path.length === cut + 1) return 'it must contain an application and a stream';
  const server = parsePushUrl(`${scheme}://${parts.authority}${parts.path.slice(0, cut)}`);
  if (typeof server === 'string') return server;
  return { scheme, server, name, guarded: server.guarded, shown: parts.shown };
}

function srt(text: string): SrtUrl | string {
  const parts = partsOf(text, 'srt');
  if (parts === null) return 'it is malformed';
  if (parts.credentials !== null) return 'an SRT URL cannot contain a user name';
  const query = new URLSearchParams(parts.search);
  if (query.has('passphrase')) return 'encrypted SRT (a passphrase) is not supported';
  const streamId = query.get('streamid');
  if (streamId !== null && Buffer.byteLength(streamId) > 512) return 'the streamid is longer than 512 bytes';
  query.delete('streamid');
  const rest = query.size === 0 ? '' : `?${query}`;
  const server = parsePushUrl(`srt://${parts.authority}${parts.path}${rest}`);
  if (typeof server === 'string') return server;
  return { scheme: 'srt', server, streamId, guarded: server.guarded, shown: parts.shown };
}

function rtsp(text: string, scheme: 'rtsp' | 'rtsps'): RtspUrl | string {
  const parts = partsOf(text, scheme);
  if (parts === null) return 'it is malformed';
  const { credentials, authority, path, search, shown } = parts;
  const portText = /:(\d{1,5})$/.exec(authority)?.[1];
  const port = portText === undefined ? RTSP_PORTS[scheme] : Number(portText);
  if (port < 1 || port > 65_535) return 'its port is invalid';
  const guarded = `https://${authority}/`;
  if (!URL.canParse(guarded)) return 'it has no host';
  const url = `${scheme}://${authority}${path}${search}`;
  return { scheme, url, port, credentials, shown, guarded };
}
