import type { ClientInfo } from '../../../kernel/client-info.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { AdmitLive, LiveAdmission, Viewer } from '../../audience/playback/index.ts';
import * as repository from './repository.ts';

interface Deps {
  db: Db;
  clock: Clock;
  admit: AdmitLive;
  seen(admission: LiveAdmission, visit: ClientInfo): void;
  sent(admission: LiveAdmission, bytes: number): void;
  /** Notifies the media role to check the sessions. */
  told(): void;
}

/** Validity of an admission; it is renewed every second. */
const ADMITTED_MS = 10_000;
/** Silence of a media node after which its sessions are lost; it reports them every second. */
const LOST_MS = 10_000;

/** Viewer with the credentials and client info that an HLS player sends with each request. */
interface Watching {
  streamId: string;
  viewer: Viewer;
  visit: ClientInfo;
}

/**
 * Viewers who connected through this process, which checks repeatedly whether they may watch
 * (docs/decisions/whep.md#access-checks). Their credentials stay in its memory.
 */
export interface Audience {
  add(sessionId: string, watching: Watching): void;
  look(): Promise<void>;
  /** Checks the viewers of a stream immediately. */
  changed(streamId: string): void;
}

/** Returns the time until which an admission granted now is valid. */
export function admittedUntil(clock: Clock): Date {
  return dateFromMs(clock.ms() + ADMITTED_MS);
}

export function createAudience({ db, clock, admit, seen, sent, told: notifyNodes }: Deps): Audience {
  const sessions = new Map<string, Watching & { bytes: number }>();

  /** @returns the viewers who may continue; the others are disconnected. */
  const admitted = async (ids: readonly string[]) => {
    const found = await Promise.all(
      ids.map(async (id) => {
        const one = sessions.get(id);
        const admission = one === undefined ? null : await admit(one.streamId, one.viewer);
        return { id, one, admission };
      }),
    );
    const over = found.filter(({ admission }) => (admission?.shows ?? null) === null).map(({ id }) => id);
    if (over.length > 0) {
      await repository.endSessions(db, over);
      notifyNodes();
      for (const id of over) sessions.delete(id);
    }
    return new Map(
      found.flatMap(({ id, one, admission }) =>
        one === undefined || admission === null || admission.shows === null ? [] : [[id, { one, admission }]],
      ),
    );
  };
  const look = async () => {
    if (sessions.size === 0) return;
    const may = await admitted([...sessions.keys()]);
    const terms = { until: admittedUntil(clock), since: dateFromMs(clock.ms() - LOST_MS) };
    const carried = await repository.extendAdmission(db, [...may.keys()], terms);
    const there = new Map(carried.map((row) => [row.id, row.sent_bytes]));
    for (const [id, { one, admission }] of may) {
      const bytes = there.get(id);
      if (bytes === undefined) {
        sessions.delete(id);
        continue;
      }
      if (bytes > one.bytes) sent(admission, bytes - one.bytes);
      one.bytes = bytes;
      if (admission.shows === 'live') seen(admission, one.visit);
    }
  };
  return {
    add: (sessionId, watching) => void sessions.set(sessionId, { ...watching, bytes: 0 }),
    look,
    changed(streamId) {
      const ids = [...sessions].filter(([, one]) => one.streamId === streamId).map(([id]) => id);
      // A failed check is repeated within the second.
      if (ids.length > 0) void admitted(ids).catch(() => {});
    },
  };
}
