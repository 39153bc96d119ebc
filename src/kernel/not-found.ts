import { AppError, notFound } from './errors.ts';

/** Returns a handler for `catch` that attributes a missing resource to a field of the body. */
export function rethrowNotFoundAs(field: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof AppError && error.code === 'NOT_FOUND' ? notFound(field) : error;
  };
}

/** Handler for `catch` that returns null for a missing resource. @throws any error other than NOT_FOUND. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
  throw error;
}
