"""From a chosen node to a bound pod: Reserve, Permit, PreBind, Bind and PostBind."""
