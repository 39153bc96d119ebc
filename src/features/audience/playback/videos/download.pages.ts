import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VideoFiles } from '../../../../media/contract/index.ts';
import { countEgress, type OnBytesSent } from '../egress.ts';
import { fileRequestOf, sendFile } from '../reply.ts';
import type { Downloads } from './download.service.ts';

type DownloadRequest = FastifyRequest<{
  Params: { videoId: string; name: string };
  Querystring: { token?: string };
}>;

/**
 * Registers `/v/:videoId/download/:name`: by a signed URL only, with ranges, so that an interrupted download
 * can resume (docs/concepts/videos.md#download).
 */
export function downloadPages(deps: {
  downloads: Downloads;
  files: Pick<VideoFiles, 'notFound'>;
  sentBytes: OnBytesSent;
}): (app: FastifyInstance) => void {
  const { downloads, files, sentBytes } = deps;
  const handler = async (request: DownloadRequest, reply: FastifyReply) => {
    const { token } = request.query;
    const link = { ...request.params, token: typeof token === 'string' ? token : undefined };
    const found = await downloads.open(link, fileRequestOf(request, true));
    if (found === null) return sendFile(reply, files.notFound());
    countEgress(sentBytes, found.video, reply, found.reply);
    return sendFile(reply, found.reply);
  };
  return (app) =>
    app.route({
      method: ['GET', 'HEAD'],
      url: '/v/:videoId/download/:name',
      exposeHeadRoute: false,
      handler,
    });
}
