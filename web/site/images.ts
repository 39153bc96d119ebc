/** Images that pages name in their head; listed here so that the build gives them hashed URLs. */

export { default as card } from './card.png?url';
export { default as icon } from './icon.svg?url';
