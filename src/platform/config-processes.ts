import { ConfigError, type Key, processes } from './config-parsers.ts';

/** The variables of the processes on this machine, for the table of all. */
export const PROCESS_KEYS = {
  API_PROCESSES: processes(
    'API processes on this machine: a number, or `auto` for half of the CPU cores, at most 16. See `docs/guides/operations.md`.',
    { coresEach: 2, max: 16 },
  ),
  WORKER_PROCESSES: processes(
    'Worker processes on this machine, for webhook deliveries: a number, or `auto` for 1. The first one runs all encodes.',
    { coresEach: 1, max: 1 },
  ),
  MEDIA_PROCESSES: processes(
    'Media processes on this machine, which share its broadcasts: a number, or `auto` for a quarter of the CPU cores, at most 8.',
    { coresEach: 4, max: 8 },
  ),
} satisfies Record<string, Key<unknown>>;

type Read = <T>(name: string, key: Key<T>) => T;

export function readProcesses(read: Read) {
  return {
    API_PROCESSES: read('API_PROCESSES', PROCESS_KEYS.API_PROCESSES),
    WORKER_PROCESSES: read('WORKER_PROCESSES', PROCESS_KEYS.WORKER_PROCESSES),
    MEDIA_PROCESSES: read('MEDIA_PROCESSES', PROCESS_KEYS.MEDIA_PROCESSES),
  };
}

/** Ports that can be passed by a service manager. */
const SOCKET_NAMES = ['api', 'rtmp', 'rtmps', 'media', 'metrics'] as const;
export type SocketName = (typeof SOCKET_NAMES)[number];

/** First file descriptor passed by a service manager. */
const FIRST_DESCRIPTOR = 3;

/**
 * Returns the file descriptors of listening sockets that systemd passed to this process (sd_listen_fds(3)). A
 * single socket with another name is that of the API.
 *
 * @throws {ConfigError} naming a socket that belongs to no port.
 */
export function readSockets(
  environment: Record<string, string | undefined>,
  pid: number,
): ReadonlyMap<SocketName, number> {
  const { LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES = '' } = environment;
  const count = Number(LISTEN_FDS ?? 0);
  const sockets = new Map<SocketName, number>();
  if (LISTEN_PID !== String(pid) || !Number.isInteger(count)) return sockets;
  const names = LISTEN_FDNAMES.split(':');
  for (let index = 0; index < count; index++) {
    const given = names[index] ?? '';
    const name = SOCKET_NAMES.find((known) => known === given) ?? (count === 1 ? 'api' : null);
    if (name === null || sockets.has(name)) {
      throw new ConfigError(
        `LISTEN_FDNAMES has "${given}"; name each socket once, with one of ${SOCKET_NAMES.join(', ')}`,
      );
    }
    sockets.set(name, FIRST_DESCRIPTOR + index);
  }
  return sockets;
}
