/**
 * Page script that gives the sections of an offer longer names than browsers do, and restores them in the
 * answer.
 */
export const NAMES = `
window.named = (sdp, name) => sdp
  .replace(/^a=mid:/gm, (line) => line + name)
  .replace(/^a=group:BUNDLE .*/m, (line) => line.replaceAll(/ (?=[0-9])/g, ' ' + name));
window.unnamed = (sdp, name) => {
  const own = ['a=group:BUNDLE ' + name, 'a=mid:' + name];
  if (own.some((line) => !sdp.includes(line))) throw new Error('other names than those of the offer: ' + sdp);
  return name === '' ? sdp : sdp.replaceAll(name, '');
};
`;
