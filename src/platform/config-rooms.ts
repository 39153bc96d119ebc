import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { ConfigError, integer, type Key, list, text, url } from './config-parsers.ts';

const ENGINES = ['auto', 'janus', 'livekit', 'mesh'] as const;
type EngineChoice = (typeof ENGINES)[number];

const engine: Key<EngineChoice> = {
  description:
    'Room engine: `janus` on this machine, `livekit` on separate machines, `mesh` (peer-to-peer between browsers, at most four people), or `auto`: LiveKit if `LIVEKIT_URL` is set, otherwise Janus if installed, otherwise mesh. See `docs/guides/room-engines.md`.',
  fallback: 'auto',
  parse: (value) => {
    const choice = ENGINES.find((known) => known === value);
    if (choice === undefined) throw new Error(`must be one of ${ENGINES.join(', ')}`);
    return choice;
  },
};

/** Each participant takes up to two ports. */
const FEWEST_PORTS = 10;

/** Both are of it. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const udpPorts: Key<PortRange> = {
  description:
    'UDP ports for Janus media; browsers must be able to reach them, unless LiveKit is the room engine.',
  fallback: '20000-20199',
  parse: (value) => {
    const [, first = 0, last = 0] = (/^(\d+)-(\d+)$/.exec(value) ?? []).map(Number);
    if (first < 1024 || last > 65_535 || last - first + 1 < FEWEST_PORTS)
      throw new Error(
        `must be a port range of at least ${FEWEST_PORTS} ports from 1024 up, such as 20000-20199`,
      );
    return { first, last };
  },
};

const publicIp: Key<string> = {
  ...text('Public IP address of those ports, if the machine does not have it itself (NAT, containers).'),
  parse: (value) => {
    if (isIP(value) === 0) throw new Error('must be an IP address');
    return value;
  },
};

const livekitUrl: Key<string> = {
  ...url('URL of a LiveKit server that browsers and this program can reach (`wss://livekit.example.com`).', [
    'ws:',
    'wss:',
  ]),
  parse: (value) => {
    const address = URL.canParse(value) ? new URL(value) : null;
    const isOrigin = address !== null && value.replace(/\/$/, '') === `${address.protocol}//${address.host}`;
    if (!isOrigin || !/^wss?:$/.test(address.protocol))
      throw new Error('must be a URL without a path, such as wss://livekit.example.com');
    return `${address.protocol}//${address.host}`;
  },
};

const turnUrls: Key<string[]> = {
  ...list(
    'STUN and TURN servers for browsers, comma-separated (`turn:turn.example.com:3478?transport=udp`).',
  ),
  parse: (value) => {
    const urls = value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
    const bad = urls.find(
      (one) => !/^(?:stuns?:[^\s/?]+|turns?:[^\s/?]+(?:\?transport=(?:udp|tcp))?)$/.test(one),
    );
    if (bad !== undefined)
      throw new Error('must be URLs, such as turn:turn.example.com:3478?transport=udp or stun:host:3478');
    return urls;
  },
};

/** The variables of rooms, for the table of all. */
export const ROOM_KEYS = {
  ROOMS_ENGINE: engine,
  ROOMS_UDP_PORTS: udpPorts,
  ROOMS_PUBLIC_IP: publicIp,
  ROOMS_LINK_FILE: text(
    'File through which the media role gives the API role of the same machine access to Janus. Default `DATA_DIR/rooms/janus.json`; use the same file for several nodes on one machine.',
  ),
  JANUS_PATH: text(
    'Path of the Janus program, version 1.1 or newer: runs rooms, or records LiveKit rooms.',
    'janus',
  ),
  LIVEKIT_URL: livekitUrl,
  LIVEKIT_API_KEY: text('API key of the LiveKit server.'),
  LIVEKIT_API_SECRET: text('Secret of the key.'),
  TURN_URLS: turnUrls,
  TURN_SECRET: text(
    '`static-auth-secret` of the TURN servers; used to create short-lived credentials for browsers.',
  ),
  WHEP_MAX_VIEWERS: integer(
    'Maximum concurrent real-time viewers (WHEP) per media node; each uses one or two of `ROOMS_UDP_PORTS`. 0 disables WHEP.',
    50,
    0,
    1000,
  ),
  WHEP_MAX_VIEWERS_PER_STREAM: integer('Maximum concurrent WHEP viewers per stream.', 50, 1, 1000),
  WHEP_MAX_VIEWERS_PER_ADDRESS: integer(
    'Maximum concurrent WHEP viewers per IP address (IPv6: per /64 network), across all nodes.',
    10,
    1,
    1000,
  ),
} satisfies Record<string, Key<unknown>>;

/** Configuration keys whose values are derived or may be absent. */
export type RoomKeys = keyof typeof ROOM_KEYS;

export interface RoomConfig {
  readonly ROOMS_ENGINE: EngineChoice;
  readonly ROOMS_UDP_PORTS: PortRange;
  readonly ROOMS_PUBLIC_IP: string | undefined;
  readonly ROOMS_LINK_FILE: string;
  readonly JANUS_PATH: string;
  /** An origin, `ws:` or `wss:`. It and the two below are there together, or none of them. */
  readonly LIVEKIT_URL: string | undefined;
  readonly LIVEKIT_API_KEY: string | undefined;
  readonly LIVEKIT_API_SECRET: string | undefined;
  readonly TURN_URLS: readonly string[];
  readonly TURN_SECRET: string | undefined;
  readonly WHEP_MAX_VIEWERS: number;
  readonly WHEP_MAX_VIEWERS_PER_STREAM: number;
  readonly WHEP_MAX_VIEWERS_PER_ADDRESS: number;
}

type Read = <T>(name: string, key: Key<T>) => T | undefined;

/** @throws {ConfigError} where values do not go together. */
export function readRooms(
  read: Read,
  { dataDir, publicUrl }: { dataDir: string; publicUrl: string },
): RoomConfig {
  const get = <T>(name: RoomKeys, key: Key<T>) => read(name, key);
  const ports = get('ROOMS_UDP_PORTS', ROOM_KEYS.ROOMS_UDP_PORTS);
  if (ports === undefined) throw new ConfigError('ROOMS_UDP_PORTS is required');
  const config: RoomConfig = {
    ROOMS_ENGINE: get('ROOMS_ENGINE', ROOM_KEYS.ROOMS_ENGINE) ?? 'auto',
    ROOMS_UDP_PORTS: ports,
    ROOMS_PUBLIC_IP: get('ROOMS_PUBLIC_IP', ROOM_KEYS.ROOMS_PUBLIC_IP),
    ROOMS_LINK_FILE: resolve(
      get('ROOMS_LINK_FILE', ROOM_KEYS.ROOMS_LINK_FILE) ?? join(dataDir, 'rooms', 'janus.json'),
    ),
    JANUS_PATH: get('JANUS_PATH', ROOM_KEYS.JANUS_PATH) ?? 'janus',
    LIVEKIT_URL: get('LIVEKIT_URL', ROOM_KEYS.LIVEKIT_URL),
    LIVEKIT_API_KEY: get('LIVEKIT_API_KEY', ROOM_KEYS.LIVEKIT_API_KEY),
    LIVEKIT_API_SECRET: get('LIVEKIT_API_SECRET', ROOM_KEYS.LIVEKIT_API_SECRET),
    TURN_URLS: get('TURN_URLS', ROOM_KEYS.TURN_URLS) ?? [],
    TURN_SECRET: get('TURN_SECRET', ROOM_KEYS.TURN_SECRET),
    WHEP_MAX_VIEWERS: get('WHEP_MAX_VIEWERS', ROOM_KEYS.WHEP_MAX_VIEWERS) ?? 0,
    WHEP_MAX_VIEWERS_PER_STREAM:
      get('WHEP_MAX_VIEWERS_PER_STREAM', ROOM_KEYS.WHEP_MAX_VIEWERS_PER_STREAM) ?? 1,
    WHEP_MAX_VIEWERS_PER_ADDRESS:
      get('WHEP_MAX_VIEWERS_PER_ADDRESS', ROOM_KEYS.WHEP_MAX_VIEWERS_PER_ADDRESS) ?? 1,
  };
  const complaint = roomConfigError(config, publicUrl);
  if (complaint !== null) throw new ConfigError(complaint);
  return config;
}

function roomConfigError(config: RoomConfig, publicUrl: string): string | null {
  const hasTurn = config.TURN_URLS.some((one) => one.startsWith('turn'));
  if (hasTurn && config.TURN_SECRET === undefined) return 'TURN_SECRET is required with TURN_URLS';
  return livekitConfigError(config, publicUrl);
}

function livekitConfigError(config: RoomConfig, publicUrl: string): string | null {
  const { LIVEKIT_URL: address, LIVEKIT_API_KEY: key, LIVEKIT_API_SECRET: secret } = config;
  const given = [address, key, secret].filter((value) => value !== undefined);
  if (given.length === 0)
    return config.ROOMS_ENGINE === 'livekit' ? 'LIVEKIT_URL is required if ROOMS_ENGINE is livekit' : null;
  if (given.length < 3) return 'LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET must all be set';
  const isMixed = publicUrl.startsWith('https:') && address?.startsWith('ws:') === true;
  return isMixed
    ? 'LIVEKIT_URL must start with wss:// if PUBLIC_URL starts with https://: browsers block other connections'
    : null;
}
