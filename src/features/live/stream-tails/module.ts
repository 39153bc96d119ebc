export { createStreamTails } from './service.ts';
