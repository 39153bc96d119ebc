import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { toHostname } from '../kernel/hostname.ts';
import { PLAN_NAMES, type Plan } from '../kernel/plans.ts';
import type { DiskReserve } from './disk.ts';

const MAX_PROCESSES = 64;

/** A bad value: one line that names the key. */
export class ConfigError extends Error {}

/** One key of the configuration: how its text becomes a value, and its description in docs/configuration.md. */
export interface Key<T> {
  description: string;
  /** The text that stands for an absent variable; null when the value is derived or simply absent. */
  fallback: string | null;
  /** @throws {Error} with a message that describes the error in the text. */
  parse(text: string): T;
}

export function text(description: string, fallback: string | null = null): Key<string> {
  return { description, fallback, parse: (value) => value };
}

export function integer(description: string, fallback: number, min: number, max: number): Key<number> {
  return {
    description,
    fallback: String(fallback),
    parse: (value) => {
      const number = Number(value);
      if (!/^-?\d+$/.test(value) || number < min || number > max) {
        throw new Error(`must be a whole number from ${min} to ${max}`);
      }
      return number;
    },
  };
}

/** A number of processes, or `auto`: a share of the cores of this machine. */
export function processes(description: string, auto: { coresEach: number; max: number }): Key<number> {
  const automatic = () =>
    Math.max(1, Math.min(auto.max, Math.floor(availableParallelism() / auto.coresEach)));
  return {
    description,
    fallback: '1',
    parse: (value) => {
      if (value === 'auto') return automatic();
      if (!/^\d+$/.test(value) || Number(value) < 1 || Number(value) > MAX_PROCESSES) {
        throw new Error(`must be auto, or a whole number from 1 to ${MAX_PROCESSES}`);
      }
      return Number(value);
    },
  };
}

export function flag(description: string, fallback: boolean): Key<boolean> {
  return {
    description,
    fallback: String(fallback),
    parse: (value) => {
      if (/^(true|1|on|yes)$/i.test(value)) return true;
      if (/^(false|0|off|no)$/i.test(value)) return false;
      throw new Error('must be true or false');
    },
  };
}

export function list(description: string, fallback = ''): Key<string[]> {
  return {
    description,
    fallback,
    parse: (value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
  };
}

export function url(description: string, protocols: string[]): Key<string> {
  return {
    description,
    fallback: null,
    parse: (value) => {
      if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
        throw new Error(`must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
      }
      return value.replace(/\/+$/, '');
    },
  };
}

/** A PostgreSQL URL, which may name several hosts, separated by commas. */
export function databaseUrl(description: string): Key<string> {
  const single = url(description, ['postgres:', 'postgresql:']);
  return {
    ...single,
    parse(value) {
      single.parse(value.replace(OTHER_HOSTS, '$1'));
      return value.replace(/\/+$/, '');
    },
  };
}

const OTHER_HOSTS = /^([^/]*\/\/(?:[^@/?]*@)?[^,/?]*)(?:,[^,/?]+)+/;

const ROLES = ['api', 'worker', 'media'] as const;
type Role = (typeof ROLES)[number];

export const roles: Key<Role[]> = {
  description: 'Roles to run: `all`, or a comma-separated list of `api`, `worker`, `media`.',
  fallback: 'all',
  parse: (value) => {
    if (value === 'all') return [...ROLES];
    return value.split(',').map((name) => {
      const role = ROLES.find((known) => known === name.trim());
      if (role === undefined) throw new Error('must be all, or a list of api, worker, media');
      return role;
    });
  },
};

const REGISTRATIONS = ['open', 'invite', 'closed'] as const;
export type RegistrationMode = (typeof REGISTRATIONS)[number];

export const registration: Key<RegistrationMode> = {
  description:
    'Who can register in the dashboard: `open`, `invite` (only with a link from `marquee account invite`) or `closed`. Default: `open` if `PUBLIC_URL` is this machine, otherwise `invite`. Does not affect `POST /auth/register`.',
  fallback: null,
  parse: (value) => {
    const mode = REGISTRATIONS.find((known) => known === value);
    if (mode === undefined) throw new Error('must be open, invite or closed');
    return mode;
  },
};

export function plan(description: string, fallback: Plan): Key<Plan> {
  return {
    description,
    fallback,
    parse: (value) => {
      const found = PLAN_NAMES.find((known) => known === value);
      if (found === undefined) throw new Error(`must be one of ${PLAN_NAMES.join(', ')}`);
      return found;
    },
  };
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export const logLevel: Key<string> = {
  description: 'Minimum log level: trace, debug, info, warn, error, fatal or silent.',
  fallback: 'info',
  parse: (value) => {
    if (!LOG_LEVELS.includes(value)) throw new Error(`must be one of ${LOG_LEVELS.join(', ')}`);
    return value;
  },
};

/** How a media node that is stopped treats its broadcasts. */
export type MediaDrain = 'move' | 'wait';

export const mediaDrain: Key<MediaDrain> = {
  description:
    'Broadcasts of a node that is stopped: `move` ends the connections of their encoders, which reconnect to another node; `wait` lets them end first. See `docs/guides/operations.md`.',
  fallback: 'move',
  parse: (value) => {
    if (value !== 'move' && value !== 'wait') throw new Error('must be move or wait');
    return value;
  },
};

export const retrySeconds: Key<number[]> = {
  description:
    'Delays before each retry of a webhook delivery, in seconds (docs/concepts/webhooks.md#attempts).',
  fallback: '60,300,1800,7200,21600,43200',
  parse: (value) => {
    const delays = value.split(',').map((item) => Number(item.trim()));
    if (delays.some((delay) => !Number.isFinite(delay) || delay < 0)) {
      throw new Error('must be a comma-separated list of seconds');
    }
    return delays;
  },
};

/** Trust in `X-Forwarded-For`: none, that number of proxies in a row, or proxies with these addresses. */
export type TrustProxy = false | number | string[];

export const trustProxy: Key<TrustProxy> = {
  description:
    'Proxies whose `X-Forwarded-For` is trusted for the client IP address: `false`; `true` or `1` for one proxy, or the number of chained proxies; or a comma-separated list of proxy addresses and CIDR blocks.',
  fallback: 'false',
  parse: (value) => {
    if (/^(false|0|off|no)$/i.test(value)) return false;
    if (/^(true|on|yes)$/i.test(value)) return 1;
    if (/^\d{1,2}$/.test(value)) return Number(value);
    const blocks = value.split(',').map((item) => item.trim());
    if (blocks.every(isAddressBlock)) return blocks;
    throw new Error('must be true, false, a number of proxies, or a list of addresses and CIDR blocks');
  },
};

function isAddressBlock(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** A list whose items are all of one kind. @param kind plural, for the message. */
function listOf(
  description: string,
  kind: string,
  isItem: (item: string) => boolean,
  fallback = '',
): Key<string[]> {
  const { parse } = list('');
  return {
    description,
    fallback,
    parse: (value) => {
      const items = parse(value);
      const wrong = items.find((item) => !isItem(item));
      if (wrong !== undefined) throw new Error(`must be a list of ${kind}; "${wrong}" is invalid`);
      return items;
    },
  };
}

/** Addresses, CIDR blocks and host names. */
export function destinations(description: string): Key<string[]> {
  const isOne = (item: string) => isAddressBlock(item) || isHost(item);
  return listOf(description, 'addresses, CIDR blocks and host names', isOne);
}

export function hosts(description: string): Key<string[]> {
  return listOf(description, 'host names', isHost);
}

/** `ip` or `ip:port`, an IPv6 address with a port in brackets. */
export function nameServers(description: string): Key<string[]> {
  return listOf(description, 'addresses with optional ports', (item) => {
    const [, address = item, port = '53'] =
      /^\[?(.+?)\]?:(\d{1,5})$/.exec(isIP(item) === 0 ? item : '') ?? [];
    return isIP(address) !== 0 && Number(port) <= 65_535;
  });
}

/** A name without a dot is a slip, but for `localhost`. */
function isHost(text: string): boolean {
  const name = toHostname(text);
  return name !== null && /[^\d.]/.test(name) && (name === 'localhost' || name.includes('.'));
}

/** @param min fewest characters. */
export function password(description: string, min: number): Key<string> {
  return {
    ...text(description),
    parse: (value) => {
      if (value.length < min) throw new Error(`must have at least ${min} characters`);
      return value;
    },
  };
}

export function email(description: string, fallback: string | null): Key<string> {
  return {
    description,
    fallback,
    parse: (value) => {
      if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) throw new Error('must be an email address');
      return value;
    },
  };
}

export const secretKey: Key<string> = {
  description:
    'Encrypts secrets at rest and signs playback links: 32 bytes as 64 hexadecimal characters. Generated into `DATA_DIR` when unset; every node of a cluster needs the same one.',
  fallback: null,
  parse: (value) => {
    if (!/^[0-9a-f]{64}$/i.test(value)) throw new Error('must be 64 hexadecimal characters');
    return value;
  },
};

export const apiKey: Key<string> = {
  description:
    'FULL_ACCESS live key created for the owner on an empty database: `pk_` followed by 40 hexadecimal characters.',
  fallback: null,
  parse: (value) => {
    if (!/^pk_[0-9a-f]{40}$/.test(value))
      throw new Error('must be pk_ followed by 40 hexadecimal characters');
    return value;
  },
};

export const port = (description: string, fallback: number) => integer(description, fallback, 0, 65535);

const UNITS: Readonly<Record<string, number>> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };

export function diskReserve(description: string): Key<DiskReserve> {
  return {
    description,
    fallback: null,
    parse: (value) => {
      const [, digits = '', unit = ''] =
        /^(\d{1,15}(?:\.\d{1,3})?) ?(%|[KMGT]?B)?$/i.exec(value.trim()) ?? [];
      const number = Number(digits);
      if (digits === '' || (unit === '%' && number > 90)) {
        throw new Error('must be a size, such as 500MB or 2GB, or a percentage up to 90%, such as 5%');
      }
      if (unit === '%') return { percent: number };
      return { bytes: Math.floor(number * (UNITS[unit.toUpperCase()] ?? 1)) };
    },
  };
}
