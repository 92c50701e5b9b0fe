-- purpose: the database's clock in milliseconds since 1970
-- index used: none
select (extract(epoch from lockstep.clock()) * 1000)::bigint
