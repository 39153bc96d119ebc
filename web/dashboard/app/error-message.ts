import i18next, { t } from 'i18next';
import { ApiError } from './api-error.ts';

/** What went wrong in words: ours where we have some for the code, else those of the API, which are English. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof ApiError)) return t('error.unexpected');
  const key = `error.${error.code}`;
  return i18next.exists(key) ? t(key) : error.message || t('error.unexpected');
}
