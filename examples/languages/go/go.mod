module lockstep.example/workflow

go 1.21
