import type { Grant } from '../access.rules.ts';
import type { Access, Viewer } from '../access.service.ts';
import type { Snapshots } from '../snapshots.ts';
import type { StreamSnapshot } from './snapshot.ts';

/** A viewer who may know of a stream, and what of it they may see now. */
export interface LiveAdmission {
  stream: StreamSnapshot;
  grant: Grant | null;
  /** The token that let the viewer in, as a query; nothing when none was needed. */
  suffix: string;
  /** The broadcast, all that the encoder sends, or nothing. */
  shows: 'live' | 'preview' | null;
}

/** Null for a stream that is not there, and for whoever may not see it: nothing tells one from the other. */
export type AdmitLive = (streamId: string, viewer: Viewer) => Promise<LiveAdmission | null>;

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  access: Access;
}

/** Who may see what of a stream, however it is played: open while `isLive`, to the owner while `hasSignal`. */
export function createLiveAdmission({ streams, access }: Deps): AdmitLive {
  return async (streamId, viewer) => {
    const stream = await streams.get(streamId);
    const pass = stream === undefined ? null : await access.passFor(stream, viewer);
    if (stream === undefined || pass === null) return null;
    const isPreview = pass.grant === 'preview' && stream.hasSignal;
    return { stream, ...pass, shows: isPreview ? 'preview' : stream.isLive ? 'live' : null };
  };
}
