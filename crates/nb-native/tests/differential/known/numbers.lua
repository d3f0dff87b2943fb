-- Results of arithmetic and the C library that differ from machine to machine.

--## a hexadecimal float below the smallest normal one
-- why: C leaves the digit before the point to the library
-- guest: "0x1p-1074"
-- native: "0x0.0000000000001p-1022"
return ("%a"):format(5e-324)
