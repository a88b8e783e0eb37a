"""Reading, checking, completing and writing scheduler configurations."""
