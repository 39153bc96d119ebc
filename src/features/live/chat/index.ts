/**
 * The chat of streams: posts by keys and by guests of the watch page, history, moderation.
 *
 * Terminology: a *guest* is a visitor of one stream's page who has set a name; a *time-out* is a ban that
 * expires.
 */
