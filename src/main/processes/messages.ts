import type { RoomEngineSelection } from '../../media/rooms/engine-selection.ts';
import type { ProcessMetrics } from '../../platform/metrics-gathering.ts';
import type { Owner, StartupWarning } from '../first-run.ts';

/** Task of a process of the tree. `prepare` prepares the database for the others and ends. */
export type ProcessRole = 'prepare' | 'api' | 'worker';

/** Message that starts a process. Secrets are sent over the channel, never in the environment. */
export interface ProcessInit {
  type: 'init';
  role: ProcessRole;
  /** Name of the process, such as `api-0`, for log lines and database sessions. */
  name: string;
  /** The first worker runs all encodes of this node. */
  isFirst: boolean;
  databaseUrl: string;
  /** Hexadecimal. */
  secretKey: string;
  rooms: RoomEngineSelection;
  /** Folder for temporary files of this process, removed by the first process. */
  scratchDir: string;
}

/** Messages of the first process. */
export type ProcessOrder =
  | ProcessInit
  /** Comes with the listening socket of the API, which is sent back on request. */
  | { type: 'listen'; isReturned: boolean }
  /** Comes with a connection that was accepted before an API process listened. */
  | { type: 'connection' }
  | { type: 'media'; isRunning: boolean }
  | { type: 'metrics' }
  /** Another process takes over: finish the work and end. */
  | { type: 'retire' };

/** Messages to the first process. `fatal` is the reason for which a process cannot start. */
export type ProcessReply =
  | { type: 'prepared'; owner: Owner | null }
  | { type: 'warnings'; warnings: StartupWarning[] }
  | { type: 'ready' }
  /** Comes with a copy of the listening socket. */
  | { type: 'socket' }
  /** On request, and at the end. */
  | { type: 'metrics'; metrics: ProcessMetrics }
  | { type: 'fatal'; message: string };
