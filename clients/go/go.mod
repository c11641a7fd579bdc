module privyseal

go 1.19
