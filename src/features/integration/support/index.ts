/** Support: tickets of an account, answered by the operator, and reports of public pages. */
