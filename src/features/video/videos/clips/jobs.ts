import Type from 'typebox';
import { defineJob } from '../../../../jobs/job.ts';

/** Cuts a clip out of a video or a broadcast; its key is the id of the clip's own video. */
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
        /** Whose file the seconds are of; absent in jobs of older versions. */
        revision: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
      Type.Object({
        streamId: Type.String(),
        /** Null where the signal has never come. */
        sessionId: Type.Union([Type.String(), Type.Null()]),
        /** Where the seconds begin, in milliseconds since the Unix epoch. */
        sinceMs: Type.Number(),
      }),
    ]),
  }),
  retrySec: [2, 15, 60],
});
