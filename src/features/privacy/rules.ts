/** What is running, in numbers. */
export interface Running {
  /** Of members, to what the creator sells. */
  soldSubscriptions: number;
  comingBookings: number;
  /** Buyers of tiers and videos who are asked for the money just now. */
  payingBuyers: number;
  teamMembers: number;
  /** Of the person, to others. */
  boughtSubscriptions: number;
  bookedTimes: number;
  ownPayments: number;
  isLastAdmin: boolean;
}

/** What is running, each with how it ends. */
export function namesOf(running: Running): string[] {
  const counted = [
    [running.soldSubscriptions, 'subscriptions of your members (end them in Monetization)'],
    [running.comingBookings, 'coming bookings (cancel them in Booking)'],
    [running.payingBuyers, 'buyers who pay just now (wait for half an hour)'],
    [running.teamMembers, 'members of your team (remove them in Team)'],
    [running.boughtSubscriptions, 'subscriptions to other creators (end them on their member pages)'],
    [running.bookedTimes, 'times booked with other creators (cancel them by the link in their mails)'],
    [running.ownPayments, 'payments to other creators under way (end them, or wait for half an hour)'],
  ] as const;
  const names = counted.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
  if (running.isLastAdmin) names.push('the only administrator of this platform (name another one)');
  return names;
}

/** Below the files of the workspace, so that they go with it. @param id of one archive; none: of all. */
export function exportKey(workspaceId: string, id: string): string {
  return `${exportFolder(workspaceId)}${id}.zip`;
}

/** With a slash at the end. */
export function exportFolder(workspaceId: string): string {
  return `w/${workspaceId}/exports/`;
}
