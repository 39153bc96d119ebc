/** Pictures that pages name in their head; listed here so that the build gives them hashed addresses. */

export { default as card } from './card.png?url';
export { default as icon } from './icon.svg?url';
