import i18next, { t } from 'i18next';
import { ApiError } from './api-error.ts';

/**
 * Returns the message for an error: the dashboard's own text for its code, otherwise the API's English one.
 */
export function errorMessage(error: unknown): string {
  if (!(error instanceof ApiError)) return t('error.unexpected');
  const key = `error.${error.code}`;
  return i18next.exists(key) ? t(key) : error.message || t('error.unexpected');
}
