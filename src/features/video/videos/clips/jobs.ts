import Type from 'typebox';
import { defineJob } from '../../../../jobs/job.ts';

/** Job that cuts a clip from a video or broadcast; its key is the ID of the clip's own video. */
export const clipJob = defineJob({
  name: 'video.clip',
  payload: Type.Object({
    workspaceId: Type.String(),
    videoId: Type.String(),
    startSec: Type.Number(),
    endSec: Type.Number(),
    from: Type.Union([
      Type.Object({
        videoId: Type.String(),
        /** Revision of the file that the seconds refer to; absent in jobs of older versions. */
        revision: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
      Type.Object({
        streamId: Type.String(),
        /** Null where there never was a signal. */
        sessionId: Type.Union([Type.String(), Type.Null()]),
        /** Start of the seconds, in milliseconds since the Unix epoch. */
        sinceMs: Type.Number(),
      }),
    ]),
  }),
  retrySec: [2, 15, 60],
});
