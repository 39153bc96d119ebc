import { AppError, notFound } from './errors.ts';

/** For `catch`: what is not there was named by this member of the body. */
export function rethrowNotFoundAs(field: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof AppError && error.code === 'NOT_FOUND' ? notFound(field) : error;
  };
}

/** For `catch`: null in the place of what is not there. @throws what is no NOT_FOUND. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
  throw error;
}
