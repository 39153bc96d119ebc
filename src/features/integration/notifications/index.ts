/**
 * Notifications of an account, in its list and by email. Terminology: a *channel* is a delivery path: in-app
 * (the list of the API) or email; a *notice* is the text of an event for a person, before the preferences
 * select its channels.
 */
