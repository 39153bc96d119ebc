import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { failurePage, formField } from '../../../http/forms.ts';
import { sendPage } from '../../../http/page.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { VideoFiles } from '../../../media/contract/index.ts';
import type { Exports } from './exports.service.ts';

interface Deps {
  exports: Pick<Exports, 'keyFor'>;
  files: Pick<VideoFiles, 'openFile'>;
  assets: WebAssets;
}

type DownloadRequest = FastifyRequest<{ Params: { file: string }; Querystring: Record<string, unknown> }>;

const FILE = /^(exp_[0-9a-z]{26})\.zip$/;
const GONE = {
  heading: 'Archive not found',
  text: 'The archive has expired, or the URL is incomplete. You can request a new one in your account settings.',
};

/**
 * Serves `/exports/{id}.zip`: authorized only by the signed URL, with ranges, so that an interrupted download
 * can be resumed.
 */
export function downloadPages({ exports, files, assets }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/exports/:file', async (request: DownloadRequest, reply) => {
      const [, id = ''] = FILE.exec(request.params.file) ?? [];
      const key = await exports.keyFor(id, formField(request.query, 'signature'));
      if (key === null) return sendPage(reply, assets, failurePage(notFound(), GONE));
      const answer = await files.openFile({
        key,
        method: request.method === 'HEAD' ? 'HEAD' : 'GET',
        range: request.headers.range,
        ifNoneMatch: request.headers['if-none-match'],
        isPrivate: true,
      });
      reply.status(answer.status).headers(answer.headers);
      if (answer.status === 200 || answer.status === 206) {
        reply.header('Content-Type', 'application/zip');
        reply.header('Content-Disposition', `attachment; filename="${id}.zip"`);
      }
      // Fastify would send null as JSON.
      return reply.send(answer.body ?? undefined);
    });
  };
}
