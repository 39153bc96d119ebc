import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { sendPage } from '../../../http/page.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Limit } from '../../../http/route.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import * as views from './report.views.ts';
import type { Reports } from './reports.service.ts';
import { MAX_REPORT, REASONS, reportedOf } from './rules.ts';

interface Deps {
  reports: Reports;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
}

type ReportRequest = FastifyRequest<{ Params: { subject: string }; Body: unknown }>;

/** A message whose characters take four bytes, each of them written as three. */
const FORM_BYTES = MAX_REPORT * 12 + 4096;
const REPORTS: Limit = { bucket: 'reports', per: 'ip', max: 10, windowSec: 3600, refusal: 'RATE_LIMITED' };

/** Registers the public pages `/report/:subject` (docs/concepts/support.md#reports). */
export function reportPages({ reports, assets, counters }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) => sendFailure(assets, error, reply, views.failedPage));
      scope.get('/report/:subject', async ({ params }: ReportRequest, reply) =>
        sendPage(reply, assets, views.reportPage(subjectOf(params), views.EMPTY)),
      );
      scope.post('/report/:subject', async ({ params, body, ip }: ReportRequest, reply) => {
        const subject = subjectOf(params);
        const input = {
          reason: REASONS.find((reason) => reason === formField(body, 'reason')) ?? 'Something else',
          message: formField(body, 'message'),
          email: formField(body, 'email'),
        };
        await limitByIp({ counters }, REPORTS, ip);
        try {
          await reports.report(params.subject, input);
        } catch (error) {
          if (!(error instanceof AppError) || error.field === undefined) throw error;
          const problem = { field: error.field, text: error.message };
          return sendPage(reply, assets, views.reportPage(subject, { ...input, problem }));
        }
        return sendPage(reply, assets, views.submittedPage(subject));
      });
    });
  };
}

/** @throws {AppError} NOT_FOUND. */
function subjectOf({ subject }: ReportRequest['params']) {
  const reported = reportedOf(subject);
  if (reported === null) throw notFound();
  return reported;
}
