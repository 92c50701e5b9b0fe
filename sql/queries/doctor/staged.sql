-- purpose: how many staged messages wait to be placed, counted to 10,001 at most, and of how many queues
-- index used: primary key of staged
select count(*), count(distinct waiting.queue_name)
from (select s.queue_name from lockstep.staged s limit 10001) waiting
