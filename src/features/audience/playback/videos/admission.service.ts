import { isLinkAccessible } from '../../../../kernel/visibility.ts';
import { type Grant, isEmbedAllowed, type Source } from '../access.rules.ts';
import type { Access, Viewer } from '../access.service.ts';
import type { Snapshots } from '../snapshots.ts';
import type { VideoSnapshot } from './snapshot.ts';

/** One request for a video or a file of it. */
export interface MediaRequest extends Source, Viewer {
  videoId: string;
  /** The host name that was asked. */
  host: string;
}

export interface Admission {
  video: VideoSnapshot;
  grant: Grant | null;
  /** The token that is valid, as a query that goes on to every address; else nothing. */
  suffix: string;
  /** Not everybody may see it: shared caches must not keep it. */
  isPrivate: boolean;
  /** A player where the request comes from may load the media. */
  mayPlay: boolean;
}

export interface Admissions {
  /** Null when there is no such video, or the viewer may not see it: the same 404. */
  admit(visit: MediaRequest): Promise<Admission | null>;
}

interface Deps {
  videos: Snapshots<VideoSnapshot>;
  access: Access;
  /** The platform's own host names. */
  platformHosts: readonly string[];
}

export function createAdmissions({ videos, access, platformHosts }: Deps): Admissions {
  return {
    async admit({ videoId, token, asking, host, ...source }) {
      const video = await videos.get(videoId);
      const pass = video === undefined ? null : await access.passFor(video, { token, asking });
      if (video === undefined || pass === null) return null;
      const { grant, suffix } = pass;
      const { embedHosts: listed } = video;
      return {
        video,
        grant,
        suffix,
        isPrivate: suffix !== '' || listed !== null || !isLinkAccessible(video.visibility),
        mayPlay: isEmbedAllowed(source, { listed, own: [...platformHosts, host], grant }),
      };
    },
  };
}
