/** Responses to each workspace's requests, `/me/requests`: the last 7 days. */
